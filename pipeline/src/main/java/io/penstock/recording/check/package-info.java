/// Rules that a recording keeps, and a verifier of recordings for tests.
@NullMarked
package io.penstock.recording.check;

import org.jspecify.annotations.NullMarked;
