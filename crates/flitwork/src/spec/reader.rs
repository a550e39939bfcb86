//! Reads types of the specification from JSON values as serde_json does, with errors that are a [`Fault`].

use super::fault::Fault;
use serde::de::value::{BorrowedStrDeserializer, MapDeserializer, SeqDeserializer};
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, IntoDeserializer, Unexpected, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use serde_json::{Map, Value};

/// A value to be read.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a>(pub &'a Value);

impl<'a> IntoDeserializer<'a, Fault> for Reader<'a> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// What serde calls a value.
fn named(value: &Value) -> Unexpected<'_> {
    match value {
        Value::Null => Unexpected::Unit,
        Value::Bool(value) => Unexpected::Bool(*value),
        Value::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(value), _) => Unexpected::Unsigned(value),
            (None, Some(value)) => Unexpected::Signed(value),
            (None, None) => Unexpected::Float(number.as_f64().unwrap_or_default()),
        },
        Value::String(text) => Unexpected::Str(text),
        Value::Array(_) => Unexpected::Seq,
        Value::Object(_) => Unexpected::Map,
    }
}

fn read_list<'a, V: Visitor<'a>>(items: &'a [Value], visitor: V) -> Result<V::Value, Fault> {
    let mut list = SeqDeserializer::new(items.iter().map(Reader));
    let value = visitor.visit_seq(&mut list)?;
    list.end().map(|()| value)
}

fn read_table<'a, V: Visitor<'a>>(fields: &'a Map<String, Value>, visitor: V) -> Result<V::Value, Fault> {
    let mut table = MapDeserializer::new(fields.iter().map(|(name, value)| (name.as_str(), Reader(value))));
    let value = visitor.visit_map(&mut table)?;
    table.end().map(|()| value)
}

impl<'a> Deserializer<'a> for Reader<'a> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Number(_) => match named(self.0) {
                Unexpected::Unsigned(value) => visitor.visit_u64(value),
                Unexpected::Signed(value) => visitor.visit_i64(value),
                Unexpected::Float(value) => visitor.visit_f64(value),
                other => Err(Fault::invalid_type(other, &visitor)),
            },
            Value::String(text) => visitor.visit_borrowed_str(text),
            Value::Array(items) => read_list(items, visitor),
            Value::Object(fields) => read_table(fields, visitor),
        }
    }

    fn deserialize_option<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Fault> {
        if self.0.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'a>>(self, _name: &'static str, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'a>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match self.0 {
            Value::String(word) => visitor.visit_enum(Variant { word, content: None }),
            Value::Object(fields) => match fields.iter().next() {
                Some((word, content)) if fields.len() == 1 => {
                    visitor.visit_enum(Variant { word, content: Some(content) })
                }
                _ => Err(Fault::invalid_value(Unexpected::Map, &"map with a single key")),
            },
            other => Err(Fault::invalid_type(named(other), &"string or map")),
        }
    }

    forward_to_deserialize_any! {
        <V: Visitor<'a>>
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct
        map struct identifier ignored_any
    }
}

/// A word of an enumeration, with what belongs to it.
struct Variant<'a> {
    word: &'a str,
    content: Option<&'a Value>,
}

impl<'a> EnumAccess<'a> for Variant<'a> {
    type Error = Fault;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'a>>(self, seed: S) -> Result<(S::Value, Self), Fault> {
        seed.deserialize(BorrowedStrDeserializer::new(self.word)).map(|value| (value, self))
    }
}

impl<'a> VariantAccess<'a> for Variant<'a> {
    type Error = Fault;

    fn unit_variant(self) -> Result<(), Fault> {
        match self.content {
            None | Some(Value::Null) => Ok(()),
            Some(other) => Err(Fault::invalid_type(named(other), &"unit")),
        }
    }

    fn newtype_variant_seed<S: DeserializeSeed<'a>>(self, seed: S) -> Result<S::Value, Fault> {
        let content = self.content.ok_or_else(|| Fault::invalid_type(Unexpected::UnitVariant, &"newtype variant"))?;
        seed.deserialize(Reader(content))
    }

    fn tuple_variant<V: Visitor<'a>>(self, _length: usize, visitor: V) -> Result<V::Value, Fault> {
        match self.content {
            Some(Value::Array(items)) => read_list(items, visitor),
            Some(other) => Err(Fault::invalid_type(named(other), &"tuple variant")),
            None => Err(Fault::invalid_type(Unexpected::UnitVariant, &"tuple variant")),
        }
    }

    fn struct_variant<V: Visitor<'a>>(self, _fields: &'static [&'static str], visitor: V) -> Result<V::Value, Fault> {
        match self.content {
            Some(Value::Object(fields)) => read_table(fields, visitor),
            Some(other) => Err(Fault::invalid_type(named(other), &"struct variant")),
            None => Err(Fault::invalid_type(Unexpected::UnitVariant, &"struct variant")),
        }
    }
}
