/// Devices behind a `libascendcl.so`, bound with `java.lang.foreign`: nothing of Ascend is needed to build or to test
/// it.
///
/// ```
/// AscendDevices     finds the library, opens devices, ends the runtime after the last
///    └─ AscendDevice   memory and copies of one device, on a thread of its own
///          └─ AclEngine   which call makes which copy, and what its code means for each element
///                ├─ CopyCall · CopyStream · CopyStaging   the call, a stream that may get stuck, staging buffers
///                └─ AclRuntime · AclMemory · AclCopies   one method a function, codes checked
///                      └─ AclLibrary   symbols, sizes and offsets
/// ```
@NullMarked
package io.penstock.device.ascend;

import org.jspecify.annotations.NullMarked;
