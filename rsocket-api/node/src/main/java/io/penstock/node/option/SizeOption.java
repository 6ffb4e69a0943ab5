package io.penstock.node.option;

import io.penstock.node.text.Sizes;
import picocli.CommandLine.ITypeConverter;

/// Reads an option that is a size in bytes, such as `64KiB`.
public final class SizeOption implements ITypeConverter<Long> {
  @Override
  public Long convert(String text) {
    return Sizes.parseBytes(text);
  }
}
