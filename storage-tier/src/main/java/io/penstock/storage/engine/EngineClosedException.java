package io.penstock.storage.engine;

import io.penstock.PermanentKvException;

/// The engine was closed.
public final class EngineClosedException extends PermanentKvException {
  public EngineClosedException(String engine) {
    super("engine " + engine + " must be open (was closed)");
  }
}
