package io.penstock.wire.server.call;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The rights under which one request runs. Safe from any thread.
public final class RequestRights {
  /// Immutable; replaced under the lock.
  private volatile List<Right> rights = List.of();

  public RequestRights() {}

  /// Adds `right`, without which the request does not run.
  ///
  /// @throws RuntimeException the reason, if the caller lacks it
  public void require(Right right) {
    add(right); // first: a right that is lost from now on ends the request
    RuntimeException lack = right.lack();
    if (lack != null) {
      throw lack;
    }
  }

  private synchronized void add(Right right) {
    List<Right> more = new ArrayList<>(rights.size() + 1);
    more.addAll(rights);
    more.add(right);
    rights = List.copyOf(more);
  }

  /// @throws RuntimeException the reason, if the caller lacks one of them by now
  public void requireAll() {
    RuntimeException lack = lack();
    if (lack != null) {
      throw lack;
    }
  }

  /// Why the request must end; null if the caller has all rights.
  @Nullable RuntimeException lack() {
    for (Right right : rights) {
      RuntimeException lack = right.lack();
      if (lack != null) {
        return lack;
      }
    }
    return null;
  }
}
