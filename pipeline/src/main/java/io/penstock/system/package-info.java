/// Native memory and what else the JDK has no call for: the one binding of the C library, Linux only. Start with
/// [NativeMemory] and [NativeFile].
///
/// Java warns about native access unless it runs with `--enable-native-access=ALL-UNNAMED`. Where the system or the JVM
/// does not allow native calls, each call fails with a [SystemCallException] that says why.
@NullMarked
package io.penstock.system;

import org.jspecify.annotations.NullMarked;
