/// Native memory and other calls that the JDK lacks: the one binding of the C library, Linux only. Start with
/// [NativeMemory] and [NativeFile].
///
/// Java warns about native access unless it runs with `--enable-native-access=ALL-UNNAMED`. Where the system or the JVM
/// does not allow native calls, each call fails with a [SystemCallException] that states the reason.
@NullMarked
package io.penstock.system;

import org.jspecify.annotations.NullMarked;
