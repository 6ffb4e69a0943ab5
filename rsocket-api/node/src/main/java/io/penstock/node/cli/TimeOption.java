package io.penstock.node.cli;

import io.penstock.node.config.Durations;
import java.time.Duration;
import picocli.CommandLine.ITypeConverter;

/// Reads an option that is a time, such as `500ms`.
public final class TimeOption implements ITypeConverter<Duration> {
  @Override
  public Duration convert(String text) {
    return Durations.parse(text);
  }
}
