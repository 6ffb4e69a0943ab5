/// What a request asks for: its bucket and key, its range, the documents in its body.
@NullMarked
package io.penstock.s3.request;

import org.jspecify.annotations.NullMarked;
