//! Messages keep settings apart from words, and whoever shows them names the settings.

use std::io::{self, ErrorKind};

use hone_base::Error;
use hone_base::communicator::{Communicator, SingleProcess};
use hone_base::message::{Fields, Message, Naming, call, message, quoted, set, setting};

/// Names settings like an option of a command.
struct Options;

impl Naming for Options {
    fn setting(&self, name: &str) -> String {
        format!("--{}", name.replace('.', "-"))
    }

    fn set(&self, name: &str, value: &str) -> String {
        format!("{} {value}", self.setting(name))
    }

    fn call(&self, name: &str) -> String {
        format!("`hone {}`", name.to_lowercase().replace("::", " "))
    }
}

#[test]
fn each_front_end_names_settings_in_its_own_way() {
    let message = message![
        "lower ",
        setting("global.dim"),
        " of ",
        quoted("global.dim"),
        " or use ",
        set("psi", "w"),
        String::from("; "),
        set("weights", false),
        ", ",
        set("steps", 2),
        Message::default()
    ];
    assert_eq!(
        message.to_string(),
        "lower global.dim of `global.dim` or use psi = \"w\"; weights = false, steps = 2"
    );
    assert_eq!(
        message.say(&Options),
        "lower --global-dim of `global.dim` or use --psi w; --weights false, --steps 2"
    );
    assert!(message.names("psi") && message.names("global.dim") && !message.names("dim"));
    assert_eq!(message.quotes().collect::<Vec<_>>(), ["global.dim"]);
    assert!(Message::from("").is_empty());
    assert_eq!(setting("weight").say(&Fields), "`weight`");
    let other = message!["use ", call("Model::embed")];
    assert_eq!(other.to_string(), "use `Model::embed`");
    assert_eq!(other.say(&Options), "use `hone model embed`");
}

#[test]
fn errors_are_said_in_the_words_of_the_front_end() {
    let error = Error::config("steps", message!["0 is less than ", setting("first-step")]);
    assert_eq!(error.say(&Options), "steps: 0 is less than --first-step");
    assert_eq!(error.to_string(), "steps: 0 is less than first-step");
    let exists = Error::Exists {
        path: "a.npy".into(),
    };
    assert_eq!(
        exists.say(&Options),
        "a.npy exists; --overwrite true replaces it"
    );
}

/// What crosses between processes says the same, in the words of whoever shows it.
#[test]
fn errors_of_another_process_keep_their_parts() {
    let errors = [
        Error::config("psi", message!["use ", set("psi", "p")]),
        Error::io("a.tsv", io::Error::from(ErrorKind::NotFound)),
        Error::input(
            "a.tsv",
            "wrong",
            message!["name it with ", setting("weight")],
        ),
    ];
    for error in errors {
        let sent = serde_json::to_string(&error).expect("plain data");
        let received: Error = serde_json::from_str(&sent).expect("the same");
        assert_eq!(received.say(&Options), error.say(&Options));
        assert_eq!(received.to_string(), error.to_string());
    }
    let alone: &dyn Communicator = &SingleProcess;
    let failed = alone.agree("a.npy", Err::<(), _>(Error::config("psi", "wrong")));
    assert_eq!(failed.expect_err("its own").to_string(), "psi: wrong");
}
