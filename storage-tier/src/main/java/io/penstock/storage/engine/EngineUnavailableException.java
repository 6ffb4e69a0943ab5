package io.penstock.storage.engine;

import io.penstock.PermanentKvException;

/// This process cannot run the engine. Permanent: a process with other flags or limits can.
public final class EngineUnavailableException extends PermanentKvException {
  private final String engine;

  EngineUnavailableException(String engine, String rule, String value) {
    super("engine " + engine + " must be " + rule + " (was " + value + ")");
    this.engine = engine;
  }

  /// Name of the engine.
  public String engine() {
    return engine;
  }
}
