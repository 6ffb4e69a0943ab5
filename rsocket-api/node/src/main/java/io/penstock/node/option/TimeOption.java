package io.penstock.node.option;

import io.penstock.node.text.Durations;
import java.time.Duration;
import picocli.CommandLine.ITypeConverter;

/// Reads an option that is a time, such as `500ms`.
public final class TimeOption implements ITypeConverter<Duration> {
  @Override
  public Duration convert(String text) {
    return Durations.parse(text);
  }
}
