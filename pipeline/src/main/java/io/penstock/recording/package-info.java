/// What happened: the events of a recording, how they are put in order while a tier works, and how they are played.
@NullMarked
package io.penstock.recording;

import org.jspecify.annotations.NullMarked;
