/// The words: what a KV-cache block is, what names it, what memory it lies in and who owns it. JDK only.
///
/// A `CacheSpace` says what makes equal hashes mean different bytes; a `BlockKey` is a space and a content hash; a
/// `BlockLayout` is a list of planes. Memory is lent by a `BlockArena` as a `BlockDraft`, written granule by granule,
/// sealed into a `Block`, and freed when its last handle closes. Payload bytes are off-heap, always.
@NullMarked
package io.penstock.block;

import org.jspecify.annotations.NullMarked;
