//! Octets that would end a command early, or a message-id: refused before anybody is called.

use crate::live::nntp_server::{NewsServer, each_news_server};
use crate::live::place::{Place, key};

each_news_server![in_a_group, in_a_name, in_a_number, in_a_login];

/// It is refused, writes nothing, and the server sees nothing of `key`.
#[track_caller]
fn refused(server: NewsServer, key: &str, arguments: &[&str], exits: &[i32]) {
    let watch = server.watch();
    let place = Place::new();
    let ran = place.fetch(&[&["-v", "-o", "here"], arguments].concat());
    assert!(exits.contains(&ran.exit), "{arguments:?}: {} {}", ran.exit, ran.err);
    ran.hides("> ").hides("\nDELE");
    place.holds(&[]);
    // A later session is in the log as a whole: an earlier one would be there too.
    let later = super::super::place::key();
    server.reply(&[&format!("GROUP {later}")]);
    watch.commands_for(&later);
    assert_eq!(watch.sessions(key), 0, "{} has seen {key}", server.name);
}

fn in_a_group(server: NewsServer) {
    for path in [
        "KEY%0D%0AQUIT",
        "KEY%0AQUIT",
        "KEY%0DQUIT",
        "KEY%00",
        "KEY%20x",
        "%20KEY",
        "KEY%3E",
        "%3CKEY%3E",
        "KEY%0D%0A/1",
        "KEY%20/1-3",
        "KEY.*%0D%0A",
    ] {
        let key = key();
        let path = path.replace("KEY", &key);
        refused(server, &key, &[&server.url(&path)], &[93, 3]);
        refused(server, &key, &[&server.id_url(&path)], &[93, 3]);
        refused(server, &key, &["--news-server", &server.authority(), &format!("news:{path}")], &[93, 3]);
    }
}

fn in_a_name(server: NewsServer) {
    for id in [
        "KEY%0D%0AQUIT@test.invalid",
        "KEY@test.invalid%0D%0AQUIT",
        "KEY%0A@test.invalid",
        "KEY%00@test.invalid",
        "KEY%20x@test.invalid",
        "KEY%3E@test.invalid",
        "KEY@test.invalid%3E",
        "%3CKEY@test.invalid%3E",
        "KEY%3e%0d%0aARTICLE%20%3cplain-0001@test.invalid",
    ] {
        let key = key();
        let id = id.replace("KEY", &key);
        refused(server, &key, &[&server.id_url(&id)], &[93, 3]);
        refused(server, &key, &["--news-server", &server.authority(), &format!("news:{id}")], &[93, 3]);
    }
}

fn in_a_number(server: NewsServer) {
    for number in ["1%0D%0AQUIT", "1%0A", "1%20", "1-3%0D%0AQUIT", "%001"] {
        let key = key();
        refused(server, &key, &[&server.url(&format!("{key}/{number}"))], &[93, 3]);
    }
}

/// Neither goes out where nobody has asked who we are, nor where somebody has.
fn in_a_login(server: NewsServer) {
    for login in ["KEY\r\nQUIT:x", "KEY\n:x", "KEY:x\r\nQUIT"] {
        let (key, watch) = (key(), server.watch());
        let login = login.replace("KEY", &key);
        let place = Place::new();
        let url = server.nth_url("private.secret", 1);
        let ran = place.fetch(&["-v", "--insecure-auth", "-u", &login, &url]);
        assert!(!ran.err.contains("> AUTHINFO"), "{}", ran.err);
        // sn asks nobody.
        let expected: &[i32] = if server.is_modern { &[93, 3, 2] } else { &[93, 3, 2, 0] };
        assert!(expected.contains(&ran.exit), "{} {}", ran.exit, ran.err);
        let later = super::super::place::key();
        server.reply(&[&format!("GROUP {later}")]);
        watch.commands_for(&later);
        assert_eq!(watch.sessions(&key), 0, "{} has seen {key}", server.name);
    }
}
