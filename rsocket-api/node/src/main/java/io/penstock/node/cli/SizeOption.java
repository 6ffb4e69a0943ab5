package io.penstock.node.cli;

import io.penstock.node.config.Sizes;
import picocli.CommandLine.ITypeConverter;

/// Reads an option that is a size in bytes, such as `64KiB`.
public final class SizeOption implements ITypeConverter<Long> {
  @Override
  public Long convert(String text) {
    return Sizes.parseBytes(text);
  }
}
