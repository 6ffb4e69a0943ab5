/// Checkpoints: for each segment that is not written any more, a small file with the heads of its records, so that an
/// opening need not visit each. Never needed, never believed without their checksum; `FORMAT.md` describes them.
@NullMarked
package io.penstock.storage.checkpoint;

import org.jspecify.annotations.NullMarked;
