/// The forms of the public endpoints: requests, answers, streams and errors, as clients of each form expect them.
@NullMarked
package io.penstock.gateway.api;

import org.jspecify.annotations.NullMarked;
