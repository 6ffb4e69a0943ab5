/// The bound functions of a `libascendcl.so`, a class for each part of it: the only package that calls the library.
package io.penstock.device.ascend.acl;
