/// `penstock plan --check`: whether the rules of engines give what recorded cases say, and those rules.
@NullMarked
package io.penstock.lab.plan;

import org.jspecify.annotations.NullMarked;
