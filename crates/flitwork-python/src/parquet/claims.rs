//! What a file claims, checked before anything is allocated: the crate `parquet` trusts counts and sizes that a damaged
//! file has wrong.
//!
//! An allocation that fails ends the process, so no error can be made of it later.

use ::parquet::basic::Encoding;
use ::parquet::errors::{ParquetError, Result};
use ::parquet::file::metadata::FooterTail;
use ::parquet::file::reader::ChunkReader;
use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;
use thrift::TConfiguration;
use thrift::protocol::{TCompactInputProtocol, TInputProtocol, TType};

/// Bytes after the metadata: their length and the mark of the format.
const TAIL: u64 = 8;
/// How deep columns may be nested at most; tables are flat, and the crate goes down by recursion.
const DEEPEST: usize = 64;
/// What an entry of a dictionary takes at least when it is read \[bytes].
const ENTRY: u64 = 32;

/// The metadata of a file, as bytes, of which the tree of columns is sound.
pub fn metadata(file: &File, size: u64) -> Result<Vec<u8>> {
    let place = size.checked_sub(TAIL).ok_or_else(|| damaged("it is too short"))?;
    let tail: [u8; TAIL as usize] =
        file.get_bytes(place, TAIL as usize)?.as_ref().try_into().map_err(|_| damaged("it is too short"))?;
    let tail = FooterTail::try_new(&tail)?;
    if tail.is_encrypted_footer() {
        return Err(ParquetError::General("encrypted files are not read".to_owned()));
    }
    let from = place.checked_sub(tail.metadata_length() as u64);
    let from = from.ok_or_else(|| damaged("its metadata is longer than the file"))?;
    let bytes = file.get_bytes(from, tail.metadata_length())?.to_vec();
    check_columns(&children(&bytes)?)?;
    Ok(bytes)
}

/// How many columns each node of the tree has, from the root on.
fn children(metadata: &[u8]) -> Result<Vec<i32>> {
    let mut found = Vec::new();
    let mut protocol = protocol(metadata, metadata.len());
    each_field(&mut protocol, |protocol, field, kind| {
        // FileMetaData.schema
        if (field, kind) != (2, TType::List) {
            return protocol.skip(kind);
        }
        let list = protocol.read_list_begin()?;
        for _ in 0..list.size {
            let mut count = 0;
            each_field(protocol, |protocol, field, kind| {
                // SchemaElement.num_children
                if (field, kind) == (5, TType::I32) {
                    protocol.read_i32().map(|found| count = found)
                } else {
                    protocol.skip(kind)
                }
            })?;
            found.push(count);
        }
        protocol.read_list_end()
    })
    .map_err(|error| damaged(&error.to_string()))?;
    Ok(found)
}

fn check_columns(children: &[i32]) -> Result<()> {
    // Of each node on the way down: how many nodes are still to come in it.
    let mut open: Vec<usize> = Vec::new();
    for (at, &count) in children.iter().enumerate() {
        while open.last() == Some(&0) {
            open.pop();
        }
        if let Some(left) = open.last_mut() {
            *left -= 1;
        }
        let count = usize::try_from(count).map_err(|_| damaged("a column has fewer than 0 parts"))?;
        if count > children.len() - at - 1 {
            return Err(damaged("a column has more parts than there are"));
        }
        if count > 0 {
            open.push(count);
        }
        if open.len() > DEEPEST {
            return Err(ParquetError::General(format!("columns are nested more than {DEEPEST} times")));
        }
    }
    Ok(())
}

/// What the header of a page says.
#[derive(Default)]
struct Page {
    unpacked: i32,
    packed: i32,
    /// Entries, where it is a dictionary.
    entries: i32,
    /// How values are encoded, as Parquet numbers encodings, where there are values.
    encoding: Option<i32>,
}

/// Checks the pages of a column from `from` to `end` in the file: each can be unpacked with `most` bytes.
pub fn check_pages(file: &File, from: u64, end: u64, most: u64, are_texts: bool) -> Result<()> {
    let mut place = from;
    while place < end {
        let (page, length) = page(file, place, end - place)?;
        let (unpacked, packed) = (u64::try_from(page.unpacked), u64::try_from(page.packed));
        let (Ok(unpacked), Ok(packed), Ok(entries)) = (unpacked, packed, u64::try_from(page.entries)) else {
            return Err(damaged("a page has fewer than 0 bytes or entries"));
        };
        if entries > unpacked {
            return Err(damaged("a dictionary has more entries than bytes"));
        }
        if unpacked.max(entries * ENTRY) > most {
            return Err(ParquetError::General(format!("a page needs {unpacked} bytes, more memory than there is")));
        }
        let delta = [Encoding::DELTA_LENGTH_BYTE_ARRAY, Encoding::DELTA_BYTE_ARRAY];
        if let Some(encoding) = delta.into_iter().find(|&encoding| are_texts && page.encoding == Some(encoding as i32))
        {
            let expected = "plain values or a dictionary";
            return Err(ParquetError::General(format!("texts in the encoding {encoding}: expected {expected}")));
        }
        place = place
            .checked_add(length + packed)
            .filter(|&next| next <= end)
            .ok_or_else(|| damaged("a page is longer than its column"))?;
    }
    Ok(())
}

/// The header of a page and how many bytes it has.
fn page(file: &File, place: u64, most: u64) -> Result<(Page, u64)> {
    let mut source = Counted { source: file.get_read(place)?, bytes: 0 };
    let mut page = Page::default();
    let mut protocol = protocol(&mut source, usize::try_from(most)?);
    each_field(&mut protocol, |protocol, field, kind| match (field, kind) {
        // PageHeader: uncompressed_page_size, compressed_page_size
        (2, TType::I32) => protocol.read_i32().map(|found| page.unpacked = found),
        (3, TType::I32) => protocol.read_i32().map(|found| page.packed = found),
        // DataPageHeader.encoding, DictionaryPageHeader.num_values, DataPageHeaderV2.encoding
        (5, TType::Struct) => number(protocol, 2).map(|found| page.encoding = found),
        (7, TType::Struct) => number(protocol, 1).map(|found| page.entries = found.unwrap_or_default()),
        (8, TType::Struct) => number(protocol, 4).map(|found| page.encoding = found),
        _ => protocol.skip(kind),
    })
    .map_err(|error| damaged(&error.to_string()))?;
    Ok((page, source.bytes))
}

/// One number in a structure.
fn number(protocol: &mut dyn TInputProtocol, wanted: i16) -> thrift::Result<Option<i32>> {
    let mut number = None;
    each_field(protocol, |protocol, field, kind| {
        if (field, kind) == (wanted, TType::I32) {
            protocol.read_i32().map(|found| number = Some(found))
        } else {
            protocol.skip(kind)
        }
    })?;
    Ok(number)
}

/// Lets `read` read, or skip, each field of a structure by its number.
fn each_field(
    protocol: &mut dyn TInputProtocol,
    mut read: impl FnMut(&mut dyn TInputProtocol, i16, TType) -> thrift::Result<()>,
) -> thrift::Result<()> {
    protocol.read_struct_begin()?;
    loop {
        let field = protocol.read_field_begin()?;
        if field.field_type == TType::Stop {
            return protocol.read_struct_end();
        }
        read(protocol, field.id.unwrap_or_default(), field.field_type)?;
        protocol.read_field_end()?;
    }
}

fn protocol<R: Read>(source: R, longest: usize) -> TCompactInputProtocol<R> {
    let limits = TConfiguration::builder()
        .max_message_size(None)
        .max_frame_size(None)
        .max_string_size(Some(longest))
        .max_container_size(Some(longest))
        .build();
    match limits {
        Ok(limits) => TCompactInputProtocol::with_config(source, limits),
        Err(_) => TCompactInputProtocol::new(source),
    }
}

/// A source that counts what is read of it.
struct Counted<R> {
    source: R,
    bytes: u64,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(buffer)?;
        self.bytes += read as u64;
        Ok(read)
    }
}

fn damaged(what: &str) -> ParquetError {
    ParquetError::General(format!("damaged: {what}"))
}

thread_local! {
    /// Whether what panics on this thread is the crate over a damaged file, of which an error is made.
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// What `work` returns; an error where it panics, as the crate does over some damaged pages. Nothing is printed then.
pub fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |panic| {
            if !IS_GUARDED.get() {
                before(panic);
            }
        }));
    });
    IS_GUARDED.set(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    IS_GUARDED.set(false);
    done.unwrap_or_else(|_| Err(damaged("its values cannot be decoded")))
}
