//! Closed vocabularies as they are sent: an enum whose members have one spelling.

/// An enum that is sent as a word, can be read from one, and lists its words when it is not.
macro_rules! words {
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $($(#[$variant_meta:meta])* $variant:ident = $text:tt,)+
        }
    ) => {
        $(#[$meta])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
        )]
        #[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
        pub enum $name {
            $($(#[$variant_meta])* #[serde(rename = $text)] $variant,)+
        }

        impl $name {
            /// Every member, in declaration order.
            pub const ALL: &'static [$name] = &[$($name::$variant,)+];
            /// Every spelling, in the same order.
            pub const WORDS: &'static [&'static str] = &[$($text,)+];

            /// The one spelling.
            pub const fn as_str(self) -> &'static str {
                match self { $($name::$variant => $text,)+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = windlass_model::UnknownWord;

            fn from_str(word: &str) -> Result<Self, Self::Err> {
                match word {
                    $($text => Ok($name::$variant),)+
                    _ => Err(windlass_model::UnknownWord { word: word.to_owned(), known: $name::WORDS }),
                }
            }
        }
    };
}

/// The same, with conversions from and to the model's enum of the same name and members.
macro_rules! mirrored_words {
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $($(#[$variant_meta:meta])* $variant:ident = $text:tt,)+
        }
    ) => {
        $crate::words::words! {
            $(#[$meta])*
            pub enum $name {
                $($(#[$variant_meta])* $variant = $text,)+
            }
        }

        impl From<windlass_model::$name> for $name {
            fn from(inside: windlass_model::$name) -> $name {
                match inside { $(windlass_model::$name::$variant => $name::$variant,)+ }
            }
        }

        impl From<$name> for windlass_model::$name {
            fn from(sent: $name) -> windlass_model::$name {
                match sent { $($name::$variant => windlass_model::$name::$variant,)+ }
            }
        }
    };
}

pub(crate) use {mirrored_words, words};
