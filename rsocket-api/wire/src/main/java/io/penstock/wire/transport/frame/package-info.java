/// Frames as bytes: found in what a socket gives, queued for it, and bounded in both directions.
@NullMarked
package io.penstock.wire.transport.frame;

import org.jspecify.annotations.NullMarked;
