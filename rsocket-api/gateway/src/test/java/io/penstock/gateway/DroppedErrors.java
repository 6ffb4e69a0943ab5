package io.penstock.gateway;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import reactor.core.publisher.Hooks;

/// Fails a test during which an error reached no subscriber: such an error is a line in the log that no operator can
/// explain. Registered for all tests of this module.
public final class DroppedErrors implements BeforeAllCallback, AfterEachCallback, AfterAllCallback {
  private static final List<Throwable> DROPPED = new CopyOnWriteArrayList<>();

  @Override
  public void beforeAll(ExtensionContext context) {
    Hooks.onErrorDropped(DROPPED::add);
  }

  @Override
  public void afterEach(ExtensionContext context) {
    requireNone();
  }

  @Override
  public void afterAll(ExtensionContext context) {
    try {
      requireNone();
    } finally {
      Hooks.resetOnErrorDropped();
    }
  }

  private static void requireNone() {
    if (!DROPPED.isEmpty()) {
      AssertionError failure =
          new AssertionError("errors that reach no subscriber must be none (were " + DROPPED + ")");
      DROPPED.forEach(failure::addSuppressed);
      DROPPED.clear();
      throw failure;
    }
  }
}
