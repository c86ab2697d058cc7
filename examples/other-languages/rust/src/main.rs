//! A lock server whose steps are written to a log, or judged while it runs.
//!
//! lock [--bug] log FILE | lock [--bug] judge COMMAND...
mod judge;
mod trace_log;

use std::{env, io, path::Path, process::exit};
use trace_log::{json, json_array};

/// Hears of each step: a TraceLog or a Judge. `seen` and `parameters` are JSON.
pub trait Steps {
    fn start(&mut self, seen: &str) -> io::Result<()>;
    fn step(&mut self, action: &str, parameters: &str, seen: &str) -> io::Result<()>;
    fn stay(&mut self, seen: &str) -> io::Result<()>;
    fn refuse(&mut self, action: &str, parameters: &str, seen: &str) -> io::Result<()>;

    /// Saves what was found; a log is a file already.
    fn save(&mut self, _file: &str) -> io::Result<()> {
        Ok(())
    }

    fn close(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Server {
    holder: String,
    queue: Vec<String>,
    steps: Box<dyn Steps>,
    bug: bool,
}

impl Server {
    fn seen(&self) -> String {
        format!(r#"{{"holder":{},"queue":{}}}"#, json(&self.holder), json_array(&self.queue))
    }

    fn took(&mut self, action: &str, client: &str) -> io::Result<()> {
        let seen = self.seen();
        self.steps.step(action, &json_array(&[client.into()]), &seen)
    }

    fn refused(&mut self, action: &str, client: &str) -> io::Result<()> {
        let seen = self.seen();
        self.steps.refuse(action, &json_array(&[client.into()]), &seen)
    }

    /// Gives the client the lock, or a place in the queue.
    fn acquire(&mut self, client: &str) -> io::Result<()> {
        let is_free = self.holder == "Free" || (self.bug && self.queue.is_empty());
        if is_free {
            self.holder = client.into();
            return self.took("Acquire", client);
        }
        if self.holder == client {
            let seen = self.seen();
            return self.steps.stay(&seen);
        }
        if self.queue.iter().any(|one| one == client) {
            return self.refused("Enqueue", client);
        }
        self.queue.push(client.into());
        self.took("Enqueue", client)
    }

    /// Gives the lock to the client that has waited longest.
    fn release(&mut self, client: &str) -> io::Result<()> {
        if self.holder != client {
            return self.refused("Release", client);
        }
        self.holder = if self.queue.is_empty() { "Free".into() } else { self.queue.remove(0) };
        self.took("Release", client)
    }

    fn run(&mut self) -> io::Result<()> {
        self.steps.start(&self.seen())?;
        let mut chance: u32 = 7;
        for _ in 0..200 {
            chance = chance.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let client = format!("c{}", 1 + (chance >> 16) % 3);
            if chance >> 31 == 0 {
                self.acquire(&client)?
            } else {
                self.release(&client)?
            }
        }
        Ok(())
    }
}

fn main() -> io::Result<()> {
    let mut words: Vec<String> = env::args().skip(1).collect();
    let bug = words[0] == "--bug";
    if bug {
        words.remove(0);
    }
    let steps: Box<dyn Steps> = if words[0] == "log" {
        Box::new(trace_log::TraceLog::new(Path::new(&words[1]))?)
    } else {
        Box::new(judge::Judge::new(&words[1..])?)
    };
    let mut server = Server { holder: "Free".into(), queue: vec![], steps, bug };
    if let Err(error) = server.run() {
        eprintln!("{error}");
        server.steps.save("found.ndjson")?;
        exit(1);
    }
    server.steps.close()
}
