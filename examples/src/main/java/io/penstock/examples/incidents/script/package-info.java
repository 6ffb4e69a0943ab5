/// An incident as a recording: its inputs, what takes them, the play, and the event that broke a promise.
@NullMarked
package io.penstock.examples.incidents.script;

import org.jspecify.annotations.NullMarked;
