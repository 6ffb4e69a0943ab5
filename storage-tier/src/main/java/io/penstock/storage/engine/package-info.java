/// Segment engines: logs of records in numbered segments. A record is appended once, read at its [Location], and
/// deleted only with its whole segment. An engine knows nothing of blocks.
@NullMarked
package io.penstock.storage.engine;

import org.jspecify.annotations.NullMarked;
