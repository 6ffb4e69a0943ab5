/// The words: KV-cache blocks, their names, their memory and their owners. JDK only.
///
/// A `CacheSpace` names all that makes equal hashes mean different bytes. A `BlockKey` is a space and a content hash. A
/// `BlockLayout` is a list of planes. A `BlockArena` lends memory as a `BlockDraft`, which is written granule by
/// granule and sealed into a `Block`. The memory is free again when its last handle closes. Payload bytes are always
/// off-heap.
@NullMarked
package io.penstock.block;

import org.jspecify.annotations.NullMarked;
