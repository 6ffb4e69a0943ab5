/// Segment engines: logs of records in numbered segments. A record is appended once, found again by its [Location], and
/// goes only with its whole segment. An engine knows nothing of blocks.
@NullMarked
package io.penstock.storage.engine;

import org.jspecify.annotations.NullMarked;
