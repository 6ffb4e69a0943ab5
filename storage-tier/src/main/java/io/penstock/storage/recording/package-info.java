/// Recordings on a disk: events in pages, each with a checksum, in the segments of an engine.
@NullMarked
package io.penstock.storage.recording;

import org.jspecify.annotations.NullMarked;
