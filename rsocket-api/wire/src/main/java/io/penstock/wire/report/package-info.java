/// Reports of streams: bytes by carrier, and waits by reason.
@NullMarked
package io.penstock.wire.report;

import org.jspecify.annotations.NullMarked;
