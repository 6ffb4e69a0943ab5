/// Checkpoints: for each ended segment a small file with the content of its records' heads, so that an opening need not
/// walk the segment. An opening works without them, and trusts none with a wrong checksum. `FORMAT.md` describes them.
@NullMarked
package io.penstock.storage.checkpoint;

import org.jspecify.annotations.NullMarked;
