/// Bodies of requests: their framing, and the checksums that clients send along.
@NullMarked
package io.penstock.s3.body;

import org.jspecify.annotations.NullMarked;
