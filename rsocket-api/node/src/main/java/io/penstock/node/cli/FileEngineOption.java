package io.penstock.node.cli;

import io.penstock.storage.EngineKind;
import java.util.Locale;
import picocli.CommandLine.ITypeConverter;

/// Reads an option that is an engine which keeps files: work on files has no use for one that forgets.
public final class FileEngineOption implements ITypeConverter<EngineKind> {
  @Override
  public EngineKind convert(String text) {
    return switch (text.toLowerCase(Locale.ROOT)) {
      case "chronicle" -> EngineKind.CHRONICLE;
      case "plain" -> EngineKind.PLAIN;
      default -> throw new IllegalArgumentException("engine must be one of chronicle, plain (was " + text + ")");
    };
  }
}
