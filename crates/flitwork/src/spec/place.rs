//! Where something stands in a specification: fields and indices, one by one. As text alone a place cannot be found
//! again, because a key may be empty or have a dot in it.

use serde_json::Value;
use std::fmt::{Display, Formatter, Result as Written};

/// The way from the whole specification to a value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Place(Vec<Step>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Field(String),
    Item(usize),
}

impl Place {
    /// What serde's path leads to.
    pub(super) fn of_serde(path: &serde_path_to_error::Path) -> Place {
        use serde_path_to_error::Segment;
        let step = |segment: &Segment| match segment {
            Segment::Seq { index } => Some(Step::Item(*index)),
            Segment::Map { key } => Some(Step::Field(key.clone())),
            Segment::Enum { .. } | Segment::Unknown => None,
        };
        Place(path.iter().filter_map(step).collect())
    }

    /// The place of a field of fields.
    pub(super) fn of_fields(names: &[&str]) -> Place {
        Place(names.iter().map(|name| Step::Field((*name).to_string())).collect())
    }

    /// The field `name` of the table here.
    pub(super) fn field(&self, name: &str) -> Place {
        self.with(Step::Field(name.to_string()))
    }

    /// An item of the list here.
    pub(super) fn item(&self, index: usize) -> Place {
        self.with(Step::Item(index))
    }

    fn with(&self, step: Step) -> Place {
        Place(self.0.iter().cloned().chain([step]).collect())
    }

    /// Whether this is the whole specification.
    pub(super) fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// What stands here.
    pub(super) fn value<'a>(&self, root: &'a Value) -> Option<&'a Value> {
        self.0.iter().try_fold(root, |at, step| match step {
            Step::Field(name) => at.as_object()?.get(name),
            Step::Item(index) => at.as_array()?.get(*index),
        })
    }

    /// A specification without what stands here.
    pub(super) fn taken_from(&self, root: &Value) -> Value {
        let mut rest = root.clone();
        let Some((last, holder)) = self.0.split_last() else { return rest };
        let parent = holder.iter().try_fold(&mut rest, |at, step| match step {
            Step::Field(name) => at.as_object_mut()?.get_mut(name),
            Step::Item(index) => at.as_array_mut()?.get_mut(*index),
        });
        match (parent, last) {
            (Some(Value::Object(fields)), Step::Field(name)) => drop(fields.remove(name)),
            (Some(Value::Array(items)), Step::Item(index)) if *index < items.len() => drop(items.remove(*index)),
            _ => {}
        }
        rest
    }
}

/// `network.router.vcs`, `size[1]`; a key that is no plain word stands in quotes.
impl Display for Place {
    fn fmt(&self, f: &mut Formatter) -> Written {
        for (i, step) in self.0.iter().enumerate() {
            match step {
                Step::Item(index) => write!(f, "[{index}]")?,
                Step::Field(name) => write!(f, "{}{}", if i > 0 { "." } else { "" }, shown_key(name))?,
            }
        }
        Ok(())
    }
}

/// A key as TOML would have it: in quotes where it is no plain word.
pub(super) fn shown_key(key: &str) -> String {
    let plain = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if plain { key.to_string() } else { format!("{key:?}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_place_leads_to_its_value_whatever_keys_are_called() {
        let root = json!({"": {"a.b": [1, {"": 2}]}});
        let place = Place::default().field("").field("a.b").item(1).field("");
        assert_eq!(place.value(&root), Some(&json!(2)));
        assert_eq!(place.to_string(), r#"""."a.b"[1]."""#);
        assert_eq!(place.taken_from(&root), json!({"": {"a.b": [1, {}]}}));
        assert_eq!(Place::default().item(0).value(&root), None);
    }
}
