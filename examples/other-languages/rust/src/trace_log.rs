use std::{fs::File, io, io::Write, path::Path, time::SystemTime};

/// Writes each step, stay and refusal as a line, for `krafla validate LOG --spec Lock.tla`.
pub struct TraceLog {
    out: File,
}

impl TraceLog {
    pub fn new(path: &Path) -> io::Result<Self> {
        Ok(Self { out: File::create(path)? })
    }

    fn write(&mut self, what: &str, seen: &str) -> io::Result<()> {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let time = now.map_or(0, |since| since.as_millis());
        writeln!(self.out, r#"{{{what},"seen":{seen},"time_ms":{time}}}"#)
    }
}

impl crate::Steps for TraceLog {
    fn start(&mut self, seen: &str) -> io::Result<()> {
        self.step("Init", "[]", seen)
    }

    fn step(&mut self, action: &str, parameters: &str, seen: &str) -> io::Result<()> {
        self.write(&format!(r#""action":"{action}","parameters":{parameters}"#), seen)
    }

    fn stay(&mut self, seen: &str) -> io::Result<()> {
        self.write(r#""kind":"stay""#, seen)
    }

    fn refuse(&mut self, action: &str, parameters: &str, seen: &str) -> io::Result<()> {
        let refused = format!(r#""kind":"refusal","action":"{action}","parameters":{parameters}"#);
        self.write(&refused, seen)
    }
}

/// A string as JSON; the names of a protocol have no other characters to escape.
pub fn json(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Strings as a JSON array, which is a sequence of TLA+.
pub fn json_array(texts: &[String]) -> String {
    let members: Vec<String> = texts.iter().map(|one| json(one)).collect();
    format!("[{}]", members.join(","))
}
