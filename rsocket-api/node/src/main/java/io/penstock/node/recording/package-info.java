/// Commands about recordings: what is in them, copies of them, and the event with which a fault began.
@NullMarked
package io.penstock.node.recording;

import org.jspecify.annotations.NullMarked;
