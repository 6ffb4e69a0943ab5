/// Checkpoints: for each ended segment a small file with what its records' heads say, so that an opening need not walk
/// the segment. An opening works without them, and believes none with a wrong checksum. `FORMAT.md` describes them.
@NullMarked
package io.penstock.storage.checkpoint;

import org.jspecify.annotations.NullMarked;
