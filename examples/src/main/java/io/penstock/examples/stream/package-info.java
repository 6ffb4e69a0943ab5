/// A slow reader of a large stream: what is made, sent and held follows the reader's demand, and memory stays bounded.
@NullMarked
package io.penstock.examples.stream;

import org.jspecify.annotations.NullMarked;
