//! [`Kind`]: what a word in the name of a column says about the nodes of that column.
//!
//! People may be the same under many names: a user is a customer is an author. Some of them are named by a part in which they
//! do not meet themselves: nurses and patients, teachers and students. Things are what their name says; words that mean the
//! same are joined by a slash.

/// Names of people in tables: users and customers may be the same.
const PEOPLE: &str = "\
account actor actress agent applicant artist athlete attendee author backer borrower buyer candidate celebrity citizen \
client coauthor collaborator composer consumer contributor creator criminal critic customer developer director donor \
editor employee farmer fan founder gamer guest individual influencer inhabitant inventor investor journalist leader \
legislator lender listener member mp musician officer owner participant passenger people performer person player poet \
politician presenter purchaser reader researcher resident respondent reviewer scientist senator shareholder singer speaker \
sponsor subscriber suspect tourist trader traveler traveller user victim viewer visitor volunteer voter witness woman man \
worker writer";

/// People by the part that they play towards others, one part per line.
const PARTS: [&str; 7] = [
    "doctor nurse physician clinician surgeon therapist dentist caregiver carer gp hcw radiologist pharmacist",
    "patient",
    "teacher professor instructor tutor lecturer trainer coach",
    "student pupil learner trainee",
    "lawyer attorney judge",
    "defendant plaintiff prisoner inmate",
    "driver courier",
];

/// Things that tables relate to people and to each other.
const THINGS: &str = "\
ad/advert/advertisement airline airport album animal answer apartment app article asin assignment attribute award badge \
band bank basket/cart bed beer bike bill bird/bee/insect/pollinator/bat/ant/hummingbird/butterfly board book brand brewery \
building bus business/company/corporation/enterprise/firm/startup/employer/manufacturer/merchant/retailer/supplier/vendor \
campaign car category cell channel character chemical city class clinic club comment commit committee community compound \
concept conference congress contract cookie country county course court crop cuisine dataset department device dish \
disease/disorder/illness district document domain drug/medication/medicine email enzyme episode event exam exercise \
exhibition facility family feature festival file film/movie flight flower/plant/tree food forum fund fungus game gene genre \
grant group habitat hashtag herb hobby hospital hotel house ingredient institution/organisation/organization/ngo \
interest invoice ip issue item job journal judgment keyword language law lecture library ligand listing lncrna \
location machine magazine material meal mesh message metabolite method microbe/bacterium/bacteria mirna module mutation \
neighborhood neighbourhood newspaper nutrient order outlet package page paper parasite part party patent pathogen/virus \
pathway peptide phenotype phone place playlist podcast port post prey product program/programme project protein \
publication publisher query question reaction receptor recipe region repo/repository restaurant review ride room route \
school seed sensor series server service session ship shop/store shipment show site skill snp software song/track species \
sport station stock street subreddit substance substrate suburb subway symptom tag taxon team technology term test \
theater/theatre thread ticket tissue tool topic town transaction transporter treatment tweet university url variant \
vehicle venue video vote ward warehouse webpage website wine word";

/// What kind of nodes a column has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// People in general.
    Person,
    /// People by the part that they play.
    Part(&'static str),
    /// Something else.
    Thing(&'static str),
}

impl Kind {
    /// Whether no node of one kind is also of the other.
    pub(super) fn differs(self, other: Kind) -> bool {
        let people = |kind: Kind| matches!(kind, Kind::Person | Kind::Part(_));
        let general = self == Kind::Person || other == Kind::Person;
        self != other && !(general && people(self) && people(other))
    }
}

/// The kind of a word in lower case: `user`, `users`, `userid`, `username`.
pub(super) fn of(word: &str) -> Option<Kind> {
    let singular = word.strip_suffix("ies").map(|stem| format!("{stem}y"));
    let without = |suffix: &str| word.strip_suffix(suffix).filter(|stem| !stem.is_empty());
    let stems = [
        Some(word),
        without("s"),
        singular.as_deref(),
        without("id"),
        without("ids"),
        without("name"),
    ];
    stems.into_iter().flatten().find_map(listed)
}

fn listed(word: &str) -> Option<Kind> {
    let has = |list: &str| list.split_ascii_whitespace().any(|known| known == word);
    if has(PEOPLE) {
        return Some(Kind::Person);
    }
    let part = PARTS.into_iter().find(|list| has(list)).map(Kind::Part);
    let thing = || {
        THINGS
            .split_ascii_whitespace()
            .find(|group| group.split('/').any(|known| known == word))
    };
    part.or_else(|| thing().map(Kind::Thing))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_mean_the_same_are_of_one_kind() {
        let kind = |word: &str| of(word).unwrap_or_else(|| panic!("{word} is not listed"));
        for (a, b) in [
            ("user", "customers"),
            ("movie", "films"),
            ("patientid", "person"),
            ("nurse", "doctor"),
        ] {
            assert!(!kind(a).differs(kind(b)), "{a}, {b}");
        }
        for (a, b) in [
            ("nurse", "patient"),
            ("company", "investor"),
            ("plants", "pollinator"),
            ("cities", "countries"),
        ] {
            assert!(kind(a).differs(kind(b)), "{a}, {b}");
        }
        let mut words: Vec<&str> = PEOPLE.split_ascii_whitespace().collect();
        words.extend(PARTS.iter().flat_map(|list| list.split_ascii_whitespace()));
        words.extend(THINGS.split([' ', '/']));
        words.sort_unstable();
        assert!(
            words.windows(2).all(|two| two[0] != two[1]),
            "a word is listed once"
        );
        assert_eq!(of("source").or(of("target")).or(of("node")), None);
    }
}
