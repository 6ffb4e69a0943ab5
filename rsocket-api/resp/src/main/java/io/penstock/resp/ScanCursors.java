package io.penstock.resp;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Where scans of names go on: a cursor is a number that stands for the last name told. The oldest of too many are
/// forgotten, and their scans end. Safe from any thread.
final class ScanCursors {
  private static final int MOST = 1024;

  @GuardedBy("this") private final Map<Long, String> names = new LinkedHashMap<>();
  @GuardedBy("this") private long last;

  /// A cursor for a scan that has told `name`.
  synchronized long after(String name) {
    names.put(++last, name);
    if (names.size() > MOST) {
      names.remove(names.keySet().iterator().next());
    }
    return last;
  }

  /// The name told last; empty text for cursor 0, null for one that is not known.
  synchronized @Nullable String name(long cursor) {
    return cursor == 0 ? "" : names.get(cursor);
  }
}
