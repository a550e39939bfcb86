//! How many threads a run may take: a number or `auto`.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt::{Formatter, Result as Written};

/// Threads of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Threads {
    /// So many, where the network may be cut up at all.
    Count(u32),
    /// As the machine has, where the size of the network pays for them.
    Auto,
}

impl Threads {
    /// Most threads of a run.
    pub const MOST: usize = 64;

    /// One thread.
    pub const ONE: Threads = Threads::Count(1);

    /// Whether it is one thread, as by default.
    pub(super) fn is_one(&self) -> bool {
        *self == Threads::ONE
    }
}

impl Serialize for Threads {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Threads::Count(count) => serializer.serialize_u32(*count),
            Threads::Auto => serializer.serialize_str("auto"),
        }
    }
}

impl<'de> Deserialize<'de> for Threads {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl Visitor<'_> for Reader {
            type Value = Threads;

            fn expecting(&self, f: &mut Formatter) -> Written {
                write!(f, "1 to {}, or \"auto\"", Threads::MOST)
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<Threads, E> {
                let count = u32::try_from(value).ok().filter(|count| (1..=Threads::MOST).contains(&(*count as usize)));
                count.map(Threads::Count).ok_or_else(|| E::invalid_value(Unexpected::Unsigned(value), &self))
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<Threads, E> {
                let found = Unexpected::Signed(value);
                u64::try_from(value).map_err(|_| E::invalid_value(found, &self)).and_then(|value| self.visit_u64(value))
            }

            fn visit_str<E: Error>(self, value: &str) -> Result<Threads, E> {
                let found = Unexpected::Str(value);
                if value == "auto" { Ok(Threads::Auto) } else { Err(E::invalid_value(found, &self)) }
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

impl JsonSchema for Threads {
    fn schema_name() -> Cow<'static, str> {
        "Threads".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [
            { "type": "integer", "minimum": 1, "maximum": Threads::MOST },
            { "type": "string", "enum": ["auto"] },
        ] })
    }
}
