//! Reading GOAL text.
//!
//! The lexer is written by hand: the language has a dozen words and needs no look-ahead beyond one of them, a file can
//! have many millions of lines, and an error is to name line and column. Nothing counts lines while it reads: an error
//! knows its byte, and line and column are counted then.
//!
//! Labels may be used before they are defined. Comments may stand wherever blanks may.

use super::build::GoalBuilder;
use super::{ANY, Goal, GoalKind, GoalOp, MOST_OPERATIONS, Until};
use crate::error::{Error, Result, did_you_mean};
use std::collections::HashMap;

/// What the program in GOAL text is.
pub(super) fn read(text: &[u8], name: &str) -> Result<Goal> {
    let mut lexer = Lexer { text, name, at: 0 };
    let mut builder = GoalBuilder::new();
    lexer.skip_lines()?;
    lexer.keyword(&["num_ranks"])?;
    let at = lexer.skip_blanks()?;
    let ranks = lexer.number("a number of ranks", 1, u64::from(u32::MAX - 1))? as u32;
    for rank in 0..ranks {
        lexer.skip_lines()?;
        if lexer.peek().is_none() {
            let hint = format!("num_ranks says {ranks} ranks, {rank} are there");
            return Err(lexer.fault(at, ranks.to_string(), "as many ranks as there are", hint));
        }
        read_rank(&mut lexer, &mut builder, rank, ranks)?;
    }
    lexer.skip_lines()?;
    if lexer.peek().is_some() {
        let hint = format!("num_ranks says {ranks} ranks");
        return Err(lexer.fault(lexer.at, lexer.shown(lexer.at), "the end of the file", hint));
    }
    Ok(builder.build())
}

/// The labels of a rank, and what refers to them.
#[derive(Default)]
struct Labels<'t> {
    number: HashMap<&'t [u8], u32>,
    /// Of each label the operation and where it is defined, once it is.
    defined: Vec<Option<(u32, usize)>>,
    /// Dependencies: of, on (labels, and where they stand), until.
    uses: Vec<(u32, usize, u32, usize, Until)>,
}

impl<'t> Labels<'t> {
    fn number_of(&mut self, label: &'t [u8]) -> u32 {
        let new = self.defined.len() as u32;
        let number = *self.number.entry(label).or_insert(new);
        if number == new {
            self.defined.push(None);
        }
        number
    }

    fn names(&self) -> Vec<String> {
        let defined = self.number.iter().filter(|(_, number)| self.defined[**number as usize].is_some());
        let mut names: Vec<String> = defined.map(|(name, _)| String::from_utf8_lossy(name).into_owned()).collect();
        names.sort_unstable();
        names
    }
}

fn read_rank(lexer: &mut Lexer<'_>, builder: &mut GoalBuilder, rank: u32, ranks: u32) -> Result<()> {
    lexer.keyword(&["rank"])?;
    let at = lexer.skip_blanks()?;
    let found = lexer.number("the number of a rank", 0, u64::MAX)?;
    if found != u64::from(rank) {
        let hint = format!("ranks stand in order, 0 to {}", ranks - 1);
        return Err(lexer.fault(at, found.to_string(), format!("rank {rank} here"), hint));
    }
    lexer.skip_blanks()?;
    lexer.symbol(b'{')?;
    let mut labels = Labels::default();
    loop {
        let at = lexer.skip_lines()?;
        match lexer.peek() {
            Some(b'}') => break,
            None => return Err(lexer.fault(at, "the end of the file", format!("}} that ends rank {rank}"), "")),
            Some(_) => read_line(lexer, builder, &mut labels, ranks)?,
        }
    }
    lexer.at += 1;
    for &(of, of_at, on, on_at, until) in &labels.uses {
        let resolve = |label: u32, at: usize| {
            labels.defined[label as usize].map(|(op, _)| op).ok_or_else(|| {
                let name = lexer.shown(at);
                let hint = did_you_mean(&name, &labels.names());
                lexer.fault(at, name, format!("a label of an operation of rank {rank}"), hint)
            })
        };
        builder.depend(resolve(of, of_at)?, resolve(on, on_at)?, until);
    }
    builder.end_rank().map_err(|ring| ring_fault(lexer, &labels, &ring))
}

fn ring_fault(lexer: &Lexer<'_>, labels: &Labels<'_>, ring: &[u32]) -> Error {
    let by_op: HashMap<u32, usize> = labels.defined.iter().flatten().copied().collect();
    let mut names: Vec<String> = ring.iter().take(8).map(|op| lexer.shown(by_op[op])).collect();
    let more = if ring.len() > names.len() { format!(" ({} in all)", ring.len()) } else { String::new() };
    names.push(names[0].clone());
    let value = format!("{}{more}", names.join(" waits for "));
    lexer.fault(by_op[&ring[0]], value, "operations of which none waits for itself", "")
}

/// One line: an operation or a dependency.
fn read_line<'t>(lexer: &mut Lexer<'t>, builder: &mut GoalBuilder, labels: &mut Labels<'t>, ranks: u32) -> Result<()> {
    let at = lexer.at;
    let word = lexer.word();
    let kind = match kind_of(word) {
        Some(kind) => kind,
        None if word.is_empty() => {
            return Err(lexer.fault(at, lexer.shown(at), "an operation, a label or }", ""));
        }
        None => {
            let label = labels.number_of(word);
            let next = lexer.skip_blanks()?;
            if lexer.peek() != Some(b':') {
                return read_dependency(lexer, labels, (label, at), next);
            }
            lexer.at += 1;
            let defined = &mut labels.defined[label as usize];
            if let Some((_, first)) = *defined {
                let (line, _) = lexer.place(first);
                return Err(lexer.fault(at, lexer.shown(at), "a new label", format!("line {line} has it already")));
            }
            *defined = Some((builder.in_rank() as u32, at));
            lexer.skip_blanks()?;
            let at = lexer.at;
            match kind_of(lexer.word()) {
                Some(kind) => kind,
                None => return Err(lexer.unknown(at, &["send", "recv", "calc"])),
            }
        }
    };
    if builder.in_all() >= MOST_OPERATIONS {
        return Err(lexer.fault(at, lexer.shown(at), format!("at most {MOST_OPERATIONS} operations"), ""));
    }
    let op = read_operation(lexer, kind, ranks)?;
    builder.op(op);
    lexer.end_of_line()
}

fn kind_of(word: &[u8]) -> Option<GoalKind> {
    match word {
        b"send" => Some(GoalKind::Send),
        b"recv" => Some(GoalKind::Receive),
        b"calc" => Some(GoalKind::Calc),
        _ => None,
    }
}

/// `requires LABEL` or `irequires LABEL`, behind a label.
fn read_dependency<'t>(lexer: &mut Lexer<'t>, labels: &mut Labels<'t>, of: (u32, usize), at: usize) -> Result<()> {
    let until = match lexer.word() {
        b"requires" => Until::Finished,
        b"irequires" => Until::Started,
        _ => return Err(lexer.unknown(at, &["requires", "irequires", ":"])),
    };
    let at = lexer.skip_blanks()?;
    let word = lexer.word();
    if word.is_empty() {
        return Err(lexer.fault(at, lexer.shown(at), "a label", ""));
    }
    let on = labels.number_of(word);
    labels.uses.push((of.0, of.1, on, at, until));
    lexer.end_of_line()
}

/// What follows `send`, `recv` or `calc`.
fn read_operation(lexer: &mut Lexer<'_>, kind: GoalKind, ranks: u32) -> Result<GoalOp> {
    lexer.skip_blanks()?;
    let what = if kind == GoalKind::Calc { "a time in ns" } else { "a number of bytes" };
    let size = lexer.number(what, 0, u64::MAX)?;
    let mut op = GoalOp { kind, cpu: 0, nic: 0, peer: 0, tag: 0, size };
    if kind != GoalKind::Calc {
        lexer.skip_blanks()?;
        lexer.keyword(&["b"])?;
        lexer.skip_blanks()?;
        lexer.keyword(&[if kind == GoalKind::Send { "to" } else { "from" }])?;
        lexer.skip_blanks()?;
        let last = u64::from(ranks - 1);
        op.peer = match kind {
            GoalKind::Receive => lexer.number_or_any("a rank", last)?,
            _ => lexer.number("a rank", 0, last)? as u32,
        };
    }
    let mut words: &[&str] = if kind == GoalKind::Calc { &["cpu"] } else { &["tag", "cpu", "nic"] };
    loop {
        let at = lexer.skip_blanks()?;
        let word = lexer.word();
        if word.is_empty() {
            return Ok(op);
        }
        let Some(place) = words.iter().position(|w| w.as_bytes() == word) else {
            return Err(lexer.unknown(at, words));
        };
        lexer.skip_blanks()?;
        match words[place] {
            "tag" => op.tag = lexer.number_or_any("a tag", u64::from(ANY - 1))?,
            "cpu" => op.cpu = lexer.number("the number of a CPU", 0, 255)? as u8,
            _ => op.nic = lexer.number("the number of a NIC", 0, 255)? as u8,
        }
        words = &words[place + 1..];
    }
}

/// Where the reader stands in the text.
struct Lexer<'t> {
    text: &'t [u8],
    name: &'t str,
    at: usize,
}

impl<'t> Lexer<'t> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// Skips blanks and comments, but no end of line outside of a comment; where it stands then.
    #[inline]
    fn skip_blanks(&mut self) -> Result<usize> {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\r') => self.at += 1,
                Some(b'/') => self.skip_comment()?,
                _ => return Ok(self.at),
            }
        }
    }

    /// Skips blanks, comments and ends of lines.
    fn skip_lines(&mut self) -> Result<usize> {
        while self.skip_blanks().map(|_| self.peek() == Some(b'\n'))? {
            self.at += 1;
        }
        Ok(self.at)
    }

    fn skip_comment(&mut self) -> Result<()> {
        let rest = &self.text[self.at..];
        let length = match rest.get(1) {
            Some(b'/') => rest.iter().position(|&c| c == b'\n').unwrap_or(rest.len()),
            Some(b'*') => match rest[2..].windows(2).position(|two| two == b"*/") {
                Some(end) => end + 4,
                None => return Err(self.fault(self.at, "/*", "*/ that ends the comment", "")),
            },
            _ => return Err(self.fault(self.at, "/", "// or /* of a comment", "")),
        };
        self.at += length;
        Ok(())
    }

    /// A letter with the letters, digits and underscores behind it; empty where there is no letter.
    #[inline]
    fn word(&mut self) -> &'t [u8] {
        let rest = &self.text[self.at..];
        if !rest.first().is_some_and(u8::is_ascii_alphabetic) {
            return &[];
        }
        let length = rest.iter().position(|c| !c.is_ascii_alphanumeric() && *c != b'_').unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    /// One of `words`.
    #[inline]
    fn keyword(&mut self, words: &[&str]) -> Result<()> {
        let at = self.at;
        let word = self.word();
        if words.iter().any(|w| w.as_bytes() == word) { Ok(()) } else { Err(self.unknown(at, words)) }
    }

    fn symbol(&mut self, symbol: u8) -> Result<()> {
        if self.peek() != Some(symbol) {
            return Err(self.fault(self.at, self.shown(self.at), char::from(symbol).to_string(), ""));
        }
        self.at += 1;
        Ok(())
    }

    fn end_of_line(&mut self) -> Result<()> {
        let at = self.skip_blanks()?;
        match self.peek() {
            Some(b'\n') => self.at += 1,
            Some(_) => return Err(self.fault(at, self.shown(at), "the end of the line", "one operation a line")),
            None => (),
        }
        Ok(())
    }

    /// A whole number from `low` to `high`.
    #[inline]
    fn number(&mut self, what: &str, low: u64, high: u64) -> Result<u64> {
        let start = self.at;
        let mut value: Option<u64> = Some(0);
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            value = value.and_then(|v| v.checked_mul(10)?.checked_add(u64::from(digit - b'0')));
            self.at += 1;
        }
        match value {
            Some(v) if self.at > start && (low..=high).contains(&v) => Ok(v),
            _ => {
                let range = if high == u64::MAX { format!("{low} to 2^64 - 1") } else { format!("{low} to {high}") };
                Err(self.fault(start, self.shown(start), format!("{what}, {range}"), ""))
            }
        }
    }

    /// A number up to `high`, or -1 for any.
    #[inline]
    fn number_or_any(&mut self, what: &str, high: u64) -> Result<u32> {
        if self.text[self.at..].starts_with(b"-1") && !self.text.get(self.at + 2).is_some_and(u8::is_ascii_digit) {
            self.at += 2;
            return Ok(ANY);
        }
        self.number(&format_args!("{what} or -1").to_string(), 0, high).map(|v| v as u32)
    }

    /// The error for a word that is none of `words`.
    fn unknown(&self, at: usize, words: &[&str]) -> Error {
        let shown = self.shown(at);
        let hint = did_you_mean(&shown, words);
        let expected = match words {
            [] => "the end of the line".into(),
            [one] => (*one).to_string(),
            [rest @ .., last] => format!("{} or {last}", rest.join(", ")),
        };
        self.fault(at, shown, expected, hint)
    }

    /// What stands at a byte, as an error shows it: up to a blank.
    fn shown(&self, at: usize) -> String {
        let rest = &self.text[at.min(self.text.len())..];
        let length =
            |inside: fn(u8) -> bool| rest.iter().take(40).position(|&c| !inside(c)).unwrap_or(rest.len().min(40));
        match rest.first() {
            None => "the end of the file".into(),
            Some(b'\n' | b'\r') => "the end of the line".into(),
            Some(c) if c.is_ascii_alphanumeric() || *c == b'_' => {
                String::from_utf8_lossy(&rest[..length(|c| c.is_ascii_alphanumeric() || c == b'_')]).into_owned()
            }
            Some(_) => String::from_utf8_lossy(&rest[..length(|c| !c.is_ascii_whitespace()).max(1)]).into_owned(),
        }
    }

    /// Line and column of a byte, from 1 on; columns are characters.
    fn place(&self, at: usize) -> (usize, usize) {
        let before = &self.text[..at.min(self.text.len())];
        let start = before.iter().rposition(|&c| c == b'\n').map_or(0, |newline| newline + 1);
        let line = before.iter().filter(|&&c| c == b'\n').count() + 1;
        (line, String::from_utf8_lossy(&before[start..]).chars().count() + 1)
    }

    fn fault(&self, at: usize, value: impl ToString, expected: impl Into<String>, hint: impl Into<String>) -> Error {
        let (line, column) = self.place(at);
        Error::config(format!("{}:{line}:{column}", self.name), value, expected, hint)
    }
}
