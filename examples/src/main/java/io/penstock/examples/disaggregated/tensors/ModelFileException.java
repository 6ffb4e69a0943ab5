package io.penstock.examples.disaggregated.tensors;

import java.io.IOException;
import java.io.Serial;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/// A file of a model breaks a rule of its format, or does not fit the model's configuration.
public final class ModelFileException extends IOException {
  @Serial
  private static final long serialVersionUID = 1L;

  public ModelFileException(Path file, String problem) {
    this(file, problem, null);
  }

  public ModelFileException(Path file, String problem, @Nullable Throwable cause) {
    super(file + ": " + problem, cause);
  }
}
