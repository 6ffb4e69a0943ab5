/// Signatures of requests, version 4: the claim of a request, and its check by signing the request again.
@NullMarked
package io.penstock.s3.sign;

import org.jspecify.annotations.NullMarked;
