package io.penstock.node.config;

/// A value that a source gives for a setting.
record Given(Setting<?> setting, String text, Origin origin) {}
