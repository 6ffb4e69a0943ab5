package io.penstock.storage.engine;

import jnr.ffi.LibraryLoader;
import org.jspecify.annotations.Nullable;

/// The one call of the system's library that Chronicle's binding leaves out, through the same binder.
final class PageAdvice {
  private static final int WILL_NEED = 3; // POSIX_FADV_WILLNEED
  private static final int DONT_NEED = 4; // POSIX_FADV_DONTNEED
  private static final @Nullable Calls CALLS = load();

  private PageAdvice() {}

  /// As the binder wants it: public, with the names of the library.
  public interface Calls {
    int posix_fadvise(int descriptor, long offset, long bytes, int advice);
  }

  private static @Nullable Calls load() {
    try {
      return LibraryLoader.create(Calls.class).failImmediately().load("c");
    } catch (LinkageError | RuntimeException e) {
      return null; // the pages stay until the system needs them
    }
  }

  /// Has the system begin to read these bytes of a file into its cache; waits for nothing.
  static void fetch(int descriptor, long offset, long bytes) {
    Calls calls = CALLS;
    if (calls != null) {
      calls.posix_fadvise(descriptor, offset, bytes, WILL_NEED);
    }
  }

  /// Has the system take these bytes of a file out of its cache, but for those that are not on the medium yet.
  ///
  /// @return false if it does not know the call, or did not want to
  static boolean letGo(int descriptor, long offset, long bytes) {
    Calls calls = CALLS;
    return calls != null && calls.posix_fadvise(descriptor, offset, bytes, DONT_NEED) == 0;
  }
}
