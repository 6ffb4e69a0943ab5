package io.penstock.storage.engine;

import io.penstock.PermanentKvException;

/// This process cannot run the engine, whatever the directory. Permanent: it must be started otherwise.
public final class EngineUnavailableException extends PermanentKvException {
  private final String engine;

  EngineUnavailableException(String engine, String rule, String value) {
    super("engine " + engine + " must be " + rule + " (was " + value + ")");
    this.engine = engine;
  }

  /// Its name.
  public String engine() {
    return engine;
  }
}
