/// What streams report: bytes by carrier, and how long each waited for whom.
@NullMarked
package io.penstock.wire.report;

import org.jspecify.annotations.NullMarked;
