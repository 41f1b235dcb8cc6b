//! A table of first lines, of both kinds.

use super::*;

/// What a text with commas is judged to be; `blanks` for one with blanks.
fn verdict(text: &str, blanks: bool) -> Verdict {
    let table: Vec<Vec<String>> = text
        .lines()
        .map(|line| {
            line.split(if blanks { ' ' } else { ',' })
                .map(str::to_owned)
                .collect()
        })
        .collect();
    judge(&table, None, (0, 1), blanks)
}

/// `count` lines of a ring of people: every name twice.
fn ring(count: usize) -> String {
    (0..count)
        .map(|i| format!("{},{}\n", name(i), name((i + 1) % count)))
        .collect()
}

/// `count` lines of couples: every name once, none of a ring.
fn couples(count: usize) -> String {
    (0..count)
        .map(|i| format!("{},{}\n", name(1000 + 2 * i), name(1001 + 2 * i)))
        .collect()
}

/// Words without digits, capitals or a common length.
fn name(i: usize) -> String {
    let syllables = [
        "an", "bo", "cide", "du", "e", "fri", "go", "hana", "io", "jul",
    ];
    let mut out = String::new();
    let mut rest = i + 10;
    while rest > 0 {
        out.push_str(syllables[rest % 10]);
        rest /= 10;
    }
    out
}

#[test]
fn known_names_without_doubt() {
    for header in [
        "source,target",
        "Source,Target",
        "SRC,DST",
        "from,to",
        "follower,followee",
        "citing,cited",
        "node1,node2",
        "FromNodeId,ToNodeId",
        "user_id,item_id",
        "weight,source,target",
        ",source,target",
        "id,from,to,when",
    ] {
        let fields = header.split(',').count();
        let row = |a: &str, b: &str| {
            vec!["x"; fields - 2]
                .into_iter()
                .chain([a, b])
                .collect::<Vec<_>>()
                .join(",")
        };
        let text = format!("{header}\n{}\n{}\n", row("ann", "bob"), row("bob", "cid"));
        assert_eq!(verdict(&text, false), Verdict::Header, "{text}");
    }
    assert_eq!(
        verdict("source,target", false),
        Verdict::Header,
        "even alone"
    );
    assert_eq!(
        verdict("source,target\nsource,a\na,target\n", false),
        Verdict::Guess,
        "a flow network has such nodes"
    );
}

#[test]
fn text_above_numbers() {
    for (text, expected) in [
        ("user,item\n1,2\n3,4\n", Verdict::Header),
        ("left,right\n0,1\n1,2\n", Verdict::Header),
        ("knoten,nachbar\n0,1\n1,2\n", Verdict::Guess),
        ("a,b\n1,2\n", Verdict::Guess),
        ("a,b,weight\nann,bob,0.5\n", Verdict::Guess),
        ("a,b,mass\nann,bob,0.5\nbob,cid,1\n", Verdict::Guess),
        (
            "user,friend,since\nann,bob,1999\nbob,cid,2000\n",
            Verdict::Header,
        ),
        ("ann,bob,weight\nann,bob,0.5\nbob,cid,1\n", Verdict::Guess),
        ("benutzer,zahl\nann,1\nbob,2\ncid,3\n", Verdict::Guess),
    ] {
        assert_eq!(verdict(text, false), expected, "{text}");
    }
}

#[test]
fn known_words_above_text() {
    for header in [
        "tweet,tag",
        "parent,child",
        "u,v",
        "i,j",
        "x,y",
        "head,tail",
        "author,paper",
        "Artist1,Artist2",
        "userName,movieTitle",
        "gene_a,gene_b",
        "Person ID,Friend ID",
        "predator,prey",
        "subject,object",
        "user,user",
    ] {
        let text = format!("{header}\nann,bob\nbob,cid\n");
        assert_eq!(verdict(&text, false), Verdict::Guess, "{text}");
        let (first, _) = header.split_once(',').expect("two names");
        let text = format!("{header}\nann,bob\nbob,{first}\n");
        assert_eq!(
            verdict(&text, false),
            Verdict::Edge,
            "an id that recurs is an id: {text}"
        );
    }
}

#[test]
fn a_first_line_unlike_the_rest() {
    let rows = |row: &dyn Fn(usize) -> String| (0..12).map(row).collect::<Vec<_>>().join("\n");
    for (header, body) in [
        ("knoten,nachbar", rows(&|i| format!("n{i},n{}", i + 1))),
        ("knoten,wort", rows(&|i| format!("t{i},{}", name(i)))),
        (
            "sujet,objet",
            rows(&|i| format!("http://x.org/{},http://x.org/{}", name(i), name(i + 1))),
        ),
        (
            "von,an",
            rows(&|i| format!("{}@x.org,{}@y.org", name(i), name(2 * i))),
        ),
        (
            "zwitscher,marke",
            rows(&|i| format!("{},#{}", name(i), name(i * i))),
        ),
        (
            "wer,wen",
            rows(&|i| format!("Ann {},Bob {}", name(i), name(2 * i))),
        ),
        (
            "wer,wen",
            rows(&|i| format!("A{},B{}", name(i), name(2 * i))),
        ),
    ] {
        assert_eq!(
            verdict(&format!("{header}\n{body}"), false),
            Verdict::Guess,
            "{header}\n{body}"
        );
    }
    for (edge, body) in [
        ("admin,n7", rows(&|i| format!("n{i},n{}", i + 20))),
        ("n77,n78", rows(&|i| format!("n{i},n{}", i + 20))),
        (
            "Zoe,Yan",
            rows(&|i| format!("A{},B{}", name(i), name(3 * i))),
        ),
        (
            "zoe@z.org,yan@z.org",
            rows(&|i| format!("{}@x.org,{}@y.org", name(i), name(3 * i))),
        ),
    ] {
        let found = verdict(&format!("{edge}\n{body}"), false);
        assert!(
            matches!(found, Verdict::Edge | Verdict::Doubt),
            "{found:?}: {edge}\n{body}"
        );
    }
}

#[test]
fn few_lines_are_noted() {
    for text in [
        "knoten,nachbar\nann,bob\nbob,cid\n",
        "knoten,nachbar\nn1,n2\n",
        "knoten,nachbar\nn1,n2\nn3,n4\nn5,n6\n",
        "benutzer,zahl\nann,1\nbob,2\n",
        "von,an\nann@x.org,bob@x.org\n",
    ] {
        assert_eq!(verdict(text, false), Verdict::Doubt, "{text}");
    }
}

#[test]
fn headers_of_further_files_are_no_ids() {
    let text = "knoten,nachbar\n1,2\n3,4\nfrom,to\n5,6\n";
    assert_eq!(verdict(text, false), Verdict::Guess, "{text}");
    let text = "user,item\n1,2\n3,4\nUser,Item\n5,6\n";
    assert_eq!(verdict(text, false), Verdict::Header, "{text}");
}

#[test]
fn names_that_never_recur() {
    let with = |first: &str, body: String| verdict(&format!("{first}\n{body}"), false);
    assert_eq!(with("wer,wen", ring(60)), Verdict::Guess);
    assert_eq!(
        with("wer,friend", ring(20)),
        Verdict::Guess,
        "one word is known"
    );
    assert_eq!(
        with("wer,wen", ring(20)),
        Verdict::Doubt,
        "too few lines to be sure"
    );
    assert_eq!(
        with("wer,wen", ring(3)),
        Verdict::Doubt,
        "three lines are a reason for a note"
    );
    assert_eq!(
        with("wer,wen", couples(60)),
        Verdict::Edge,
        "in a sparse list no name recurs"
    );
    assert_eq!(with("wer,wen", couples(1000)), Verdict::Edge);
    assert_eq!(
        with("wer,wen", ring(60) + &couples(30)),
        Verdict::Edge,
        "one line in three is such"
    );
    assert_eq!(
        with(&format!("zoe,{}", name(3)), ring(60)),
        Verdict::Edge,
        "one id recurs"
    );
    assert_eq!(with("42,wen", ring(60)), Verdict::Edge);
    assert_eq!(
        with("wer!,wen", ring(60)),
        Verdict::Edge,
        "not the name of a column"
    );
    let blanks = |count| verdict(&format!("wer wen\n{}", ring(count).replace(',', " ")), true);
    assert_eq!(
        (blanks(60), blanks(120)),
        (Verdict::Doubt, Verdict::Guess),
        "headers are rare where blanks separate"
    );
}

#[test]
fn first_edges_stay_edges() {
    for text in [
        "ann,bob\n",
        "ann,bob\nbob,cid\n",
        "ann,bob\ncid,dee\n",
        "ann,bob\ncid,dee\neve,fay\ngil,hal\nian,joe\n",
        "u,v\nv,w\n",
        "u,v\nw,x\ny,z\n",
        "a,b\nb,c\n",
        "a,b\nc,d\ne,f\n",
        "x,y\nz,x\n",
        "1,b\n2,3\n",
        "a,1\n2,3\n",
        "1,2\n3,4\n",
        "u,v,0.5\nann,bob,1\n",
        "user,item,3\nann,bob,1\n",
        "node1,node2\nnode2,node3\n",
        "node1,node2\nnode3,node4\n",
        "n1,n2\nn3,n4\nn5,n6\nn7,n8\nn9,n10\nn11,n12\n",
        "Rome,Oslo\nOslo,Bonn\nBonn,Rome\nRome,Kiel\nKiel,Bonn\n",
        "tag,tweet\ntweet,retweet\n",
        "#rust,t2\n#go,t3\n",
        "nan,inf\nann,bob\n",
    ] {
        assert_eq!(verdict(text, false), Verdict::Edge, "{text}");
    }
}
