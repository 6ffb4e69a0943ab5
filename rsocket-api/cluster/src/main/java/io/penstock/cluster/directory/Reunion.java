package io.penstock.cluster.directory;

import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/// Finds out that parts of a cluster were split and met again. A member that comes back under its old address is the
/// same process, and was cut off. The members that it left may not have noticed. So a member that noticed counts it,
/// and tells the others. Not thread-safe.
///
/// @param <A> address of a member, other than at any other start
public final class Reunion<A> {
  private static final int MOST_GONE = 1 << 14;

  private final Set<A> present = new LinkedHashSet<>();
  private final Set<A> gone = new LinkedHashSet<>();
  private final Map<A, Integer> told = new HashMap<>();

  /// What a member sees.
  public enum Seen {
    NOTHING,
    /// A member that was gone is there again: this one counts a reunion, and tells it.
    OWN,
    /// Another member tells of a reunion.
    TOLD
  }

  /// Takes in the members that are there now.
  ///
  /// @param reunions that each of them told so far; may lack some of `now`
  public Seen see(Set<A> now, Map<A, Integer> reunions) {
    boolean isOwn = now.stream().anyMatch(gone::contains);
    boolean isTold = false;
    for (A member : now) {
      Integer count = reunions.get(member);
      if (count != null) {
        Integer before = told.put(member, count);
        isTold |= before != null && !before.equals(count);
      }
    }
    present.stream().filter(member -> !now.contains(member)).forEach(gone::add);
    gone.removeAll(now);
    present.clear();
    present.addAll(now);
    told.keySet().retainAll(now);
    forgetOldest();
    return isOwn ? Seen.OWN : isTold ? Seen.TOLD : Seen.NOTHING;
  }

  private void forgetOldest() {
    for (Iterator<A> oldest = gone.iterator(); gone.size() > MOST_GONE;) {
      oldest.next();
      oldest.remove();
    }
  }
}
