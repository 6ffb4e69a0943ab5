/// The requests that a prefill rank keeps, recorded and played.
@NullMarked
package io.penstock.disagg.recording;

import org.jspecify.annotations.NullMarked;
