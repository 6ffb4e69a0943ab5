package io.penstock.wire.server.call;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/// The rights under which one request runs. Safe from any thread.
public final class RequestRights {
  private final List<Right> rights = new CopyOnWriteArrayList<>();

  public RequestRights() {}

  /// Adds `right`, without which the request does not run.
  ///
  /// @throws RuntimeException the reason, if the caller lacks it
  public void require(Right right) {
    rights.add(right); // first: a right that is lost from now on ends the request
    RuntimeException lack = right.lack();
    if (lack != null) {
      throw lack;
    }
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
